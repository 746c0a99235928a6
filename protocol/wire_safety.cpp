// Checks the messages whenever the library is built.
#include "protocol/wire_safety.hpp"
