# Finds the libraries that the installed package needs. The build includes this file, and so does the
# installed holdfastConfig.cmake, so that the two cannot disagree. Only the command needs CLI11.
include(CMakeFindDependencyMacro)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(CLI11)

# Debian's Boost comes with a package file of its own; vcpkg's of the same version needs CMake's module.
if(NOT TARGET Boost::headers)
  find_package(Boost 1.81 CONFIG QUIET)
  if(NOT Boost_FOUND)
    find_dependency(Boost 1.81)
  endif()
endif()

# Debian's xxHash has no package file, vcpkg's has.
if(NOT TARGET xxHash::xxhash)
  find_package(xxHash CONFIG QUIET)
endif()
if(NOT TARGET xxHash::xxhash)
  find_path(XXHASH_INCLUDE_DIR xxhash.h)
  find_library(XXHASH_LIBRARY xxhash)
  if(NOT XXHASH_INCLUDE_DIR OR NOT XXHASH_LIBRARY)
    message(FATAL_ERROR "holdfast: xxHash was not found; on Debian: apt-get install libxxhash-dev")
  endif()
  add_library(xxHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_LOCATION "${XXHASH_LIBRARY}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${XXHASH_INCLUDE_DIR}")
endif()
