# The options a user may set, and the compile settings every target of this project shares.

# The tests and benchmarks are on by default where their libraries are installed, so that a plain configure
# works with only the `build` list of debian-packages.txt.
find_package(GTest QUIET)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)
set(tests_possible OFF)
if(PROJECT_IS_TOP_LEVEL AND GTest_FOUND AND rapidcheck_FOUND)
  set(tests_possible ON)
endif()
set(bench_possible OFF)
if(PROJECT_IS_TOP_LEVEL AND benchmark_FOUND)
  set(bench_possible ON)
endif()

option(HOLDFAST_BUILD_TESTS "Build the tests (GoogleTest, rapidcheck)" ${tests_possible})
option(HOLDFAST_BUILD_BENCH "Build the benchmarks (Google Benchmark)" ${bench_possible})
option(HOLDFAST_BUILD_FUZZERS "Build the fuzzer (libFuzzer; needs clang, and is best with sanitizers)" OFF)
option(HOLDFAST_WERROR "Make warnings errors" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_UNITY "Compile each target as one unit: several times faster, but for a small change" OFF)
set(HOLDFAST_UNITY_BATCH 0 CACHE STRING "How many sources make one unit; 0 for all of a target")
set(HOLDFAST_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")

if(HOLDFAST_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(HOLDFAST_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

find_program(HOLDFAST_CCACHE ccache)
if(HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HOLDFAST_CCACHE}")
endif()

# Sanitizers instrument what they link, so they apply to every target alike.
if(HOLDFAST_SANITIZE)
  add_compile_options("-fsanitize=${HOLDFAST_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${HOLDFAST_SANITIZE}")
endif()

# With HOLDFAST_UNITY, makes one unit of the sources of `target`, or one of each HOLDFAST_UNITY_BATCH of them;
# half of compiling a part of it is headers and templates that all parts share. Names in anonymous namespaces
# must then differ within a target; a clash is mostly a copy.
function(holdfast_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HOLDFAST_UNITY} UNITY_BUILD_BATCH_SIZE
                                                                           ${HOLDFAST_UNITY_BATCH})
endfunction()

# Sets what is private to the compilation of `target`: the language, the warnings, and paths in __FILE__
# relative to the repository, so that no output depends on where the checkout lies.
function(holdfast_compile_settings target)
  target_compile_features(${target} PRIVATE cxx_std_23)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_SCAN_FOR_MODULES OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
                                           "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  if(HOLDFAST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # libstdc++ 12 sorts stably by way of a function that it declares deprecated.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    if(HOLDFAST_UNITY)
      # A unit takes a gigabyte anyway: a tenth of the time goes into collecting garbage before that.
      target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=1048576")
    endif()
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # GCC bug 105651: std::string's operator+ sets off -Wrestrict at -O2.
      # It also takes Asio's allocation and release of a coroutine frame for strangers when it inlines only
      # one of them.
      # And it can not tell which alternative of a variant holds a std::optional, nor that a small vector
      # which grew does not copy from within itself.
      target_compile_options(${target} PRIVATE -Wno-restrict -Wno-mismatched-new-delete
                                               -Wno-maybe-uninitialized -Wno-stringop-overread)
    endif()
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.3)
      # Value range propagation of 12.2 miscompiles loops that compare two bools and leave early; the
      # checkers' comparison of records was one. tests/checkers keeps watch.
      target_compile_options(${target} PRIVATE -fno-tree-vrp)
    endif()
    if(HOLDFAST_UNITY)
      # Within a unit, GCC takes the sources for headers whose anonymous names would leak.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
    if(HOLDFAST_SANITIZE)
      # The sanitizers' own instrumentation hides initialisations from the analysis behind this warning.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    if(HOLDFAST_SANITIZE MATCHES "thread")
      # Asio has a stand-alone fence, which the thread sanitizer does not model; each context has one thread.
      target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
  endif()
endfunction()
