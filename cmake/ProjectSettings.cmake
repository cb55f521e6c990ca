# Settings every target of ours shares. Link `project_settings` privately.
add_library(project_settings INTERFACE)
target_compile_features(project_settings INTERFACE cxx_std_20)
target_include_directories(project_settings INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(project_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# GCC 12 sees an overlap that cannot be in std::string's operator+ (GCC bug 105651); mended in 13.
target_compile_options(project_settings INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(HETEROSCOPE_WERROR)
  target_compile_options(project_settings INTERFACE -Werror)
endif()
target_compile_definitions(project_settings INTERFACE
  QT_NO_CAST_FROM_ASCII QT_NO_CONTEXTLESS_CONNECT QT_NO_NARROWING_CONVERSIONS_IN_CONNECT)
if(HETEROSCOPE_SANITIZE)
  # What the sanitizers add hides from GCC that a variant's other members are never read.
  target_compile_options(project_settings INTERFACE -fsanitize=${HETEROSCOPE_SANITIZE} -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)
  target_link_options(project_settings INTERFACE -fsanitize=${HETEROSCOPE_SANITIZE})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Precompiled: they are most of what a file here costs to compile. Every file still includes what it uses.
set(HETEROSCOPE_STANDARD_HEADERS <algorithm> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <filesystem>
    <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <thread> <unordered_map> <variant> <vector>)

# A library of one folder: every .cpp in it. The glob is what lets a new policy or page be one pair of files.
#   heteroscope_library(NAME [RECURSE folder…] LIBRARIES … [PRECOMPILE header…])
function(heteroscope_library name)
  cmake_parse_arguments(ARG "" "" "RECURSE;LIBRARIES;PRIVATE_LIBRARIES;PRECOMPILE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp *.h)
  foreach(folder ${ARG_RECURSE})
    file(GLOB_RECURSE more CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.h)
    list(APPEND sources ${more})
  endforeach()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_LIBRARIES} PRIVATE project_settings ${ARG_PRIVATE_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${ARG_PRECOMPILE} ${HETEROSCOPE_STANDARD_HEADERS})
endfunction()
