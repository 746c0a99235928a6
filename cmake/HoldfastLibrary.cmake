# A library is a folder: one line in the top CMakeLists.txt makes one, for the build and for the package.
include(CMakePackageConfigHelpers)

# holdfast_library(<name> [FOLDER <folder>] [EXCLUDE <path>...] [DEPENDS <target>...])
#
# Makes holdfast::<name> of every .cpp and .hpp under <folder> (default: <name>), except the files and folders
# named by EXCLUDE. A folder without a .cpp makes a header-only target. Headers are included from the
# repository's root while building and from include/holdfast when installed, by the same path.
function(holdfast_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "EXCLUDE;DEPENDS")
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${name}")
  endif()
  set(root "${PROJECT_SOURCE_DIR}/${arg_FOLDER}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/*.cpp")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${root}/*.hpp")
  foreach(path IN LISTS arg_EXCLUDE)
    string(REPLACE "." "\\." pattern "${PROJECT_SOURCE_DIR}/${path}")
    list(FILTER sources EXCLUDE REGEX "^${pattern}(/|$)")
    list(FILTER headers EXCLUDE REGEX "^${pattern}(/|$)")
  endforeach()

  set(target "holdfast_${name}")
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    holdfast_compile_settings(${target})
    holdfast_unity(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(holdfast::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_23)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS})
  target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                                "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/holdfast>")
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
  install(
    TARGETS ${target}
    EXPORT holdfastTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/holdfast")
endfunction()

# Gives the named libraries HOLDFAST_VERSION, a string literal such as "0.1.0".
function(holdfast_define_version)
  foreach(name IN LISTS ARGN)
    get_target_property(type holdfast_${name} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      target_compile_definitions(holdfast_${name} PRIVATE "HOLDFAST_VERSION=\"${PROJECT_VERSION}\"")
    endif()
  endforeach()
endfunction()

# Installs holdfastConfig.cmake, its version file and the exported targets; call it after every library.
function(holdfast_install_package)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/holdfastConfig.cmake.in" "${PROJECT_BINARY_DIR}/holdfastConfig.cmake"
    INSTALL_DESTINATION "${destination}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${destination}")
  install(
    FILES "${PROJECT_BINARY_DIR}/holdfastConfig.cmake" "${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
          "${PROJECT_SOURCE_DIR}/cmake/HoldfastDependencies.cmake"
    DESTINATION "${destination}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
