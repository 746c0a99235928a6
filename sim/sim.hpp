// The simulation kernel: everything that a run of a distributed system is made of, except the system.
//
// It knows no protocol. Nothing in it starts a thread, reads a real clock, calls the system or draws from a
// sequential generator; all time is integer nanoseconds. A run is therefore a function of its seed and of
// what is fed in, and the same on every compiler. All parts are plain values, so that an explorer can copy a
// world and go on from the copy.
//
//   time.hpp, ids.hpp   the four kinds of time, which cannot be mixed up, and interned identities
//   random.hpp          keyed draws: hash(seed, stream, entity, index), and latency distributions
//   clock.hpp           a node's monotonic and wall clock as piecewise-linear maps of true time
//   event_queue.hpp     what happens next; the seed orders what happens at one instant
//   network.hpp         which messages arrive, when, how often: loss, duplicates, reordering, partitions
//   disk.hpp            what a crash leaves of a file: synced, unsynced and torn records
//   process.hpp         running, paused, crashed
//   asio/               clients and scripts as C++20 coroutines in virtual time; a library of its own
//
// The parts do not know each other. Whoever builds a cluster of them owns the loop: it takes the next event
// off the queue, sets true time to it, hands it to a node with the readings of that node's clocks, and turns
// what the node asks for into fates of the network, latencies of the disk and instants of the clock, which
// become new events.
#pragma once

#include "sim/clock.hpp"
#include "sim/disk.hpp"
#include "sim/event_queue.hpp"
#include "sim/ids.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"
#include "sim/random.hpp"
#include "sim/time.hpp"
