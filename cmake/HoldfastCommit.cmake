# Tells cli/version.cpp, and no other file, from which commit and in which configuration it is built.
function(holdfast_stamp_commit)
  set(HOLDFAST_COMMIT "v${PROJECT_VERSION}")
  find_package(Git QUIET)
  if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
    execute_process(
      COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=10
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      OUTPUT_VARIABLE described
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(described)
      set(HOLDFAST_COMMIT "${described}")
    endif()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/generated")
  configure_file("${PROJECT_SOURCE_DIR}/cli/version.hpp.in" "${folder}/holdfast_commit.hpp" @ONLY)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/cli/version.cpp"
    PROPERTIES INCLUDE_DIRECTORIES "${folder}"
               COMPILE_DEFINITIONS "HOLDFAST_BUILD_TYPE=\"$<CONFIG>\""
               SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
