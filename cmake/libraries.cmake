# Each foreign library as one interface target, lib_NAME.  Debian 12 ships no
# .pc file for libdwarf, GLPK and libclang.
find_package(PkgConfig REQUIRED)

foreach(version ${LM_LLVM} 19 18 17 16 15 14)
	find_program(LLVM_CONFIG NAMES llvm-config-${version})
	if(EXISTS /usr/lib/llvm-${version}/include/clang-c/Index.h)
		list(APPEND LM_LLVM_DIRS /usr/lib/llvm-${version})
	endif()
endforeach()
find_path(CLANG_INCLUDE clang-c/Index.h HINTS ${LM_LLVM_DIRS} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_path(CLANG_INCLUDE clang-c/Index.h REQUIRED)
cmake_path(GET CLANG_INCLUDE PARENT_PATH CLANG_ROOT)
find_library(CLANG_LIB clang HINTS ${CLANG_ROOT}/lib NO_DEFAULT_PATH)
find_library(CLANG_LIB clang REQUIRED)
message(STATUS "libclang: ${CLANG_LIB}")
add_library(lib_clang INTERFACE)
target_include_directories(lib_clang SYSTEM INTERFACE ${CLANG_INCLUDE})
target_link_libraries(lib_clang INTERFACE ${CLANG_LIB})

find_path(DWARF_INCLUDE libdwarf.h PATH_SUFFIXES libdwarf libdwarf-0 libdwarf-1 libdwarf-2 REQUIRED)
find_library(DWARF_LIB dwarf REQUIRED)
add_library(lib_dwarf INTERFACE)
target_include_directories(lib_dwarf SYSTEM INTERFACE ${DWARF_INCLUDE})
target_link_libraries(lib_dwarf INTERFACE ${DWARF_LIB})
# Newer libdwarf wants a path buffer length where 20210528 wants an access mode.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${DWARF_INCLUDE})
set(CMAKE_REQUIRED_LIBRARIES ${DWARF_LIB})
check_c_source_compiles("#include <libdwarf.h>
int main(void) { Dwarf_Debug d; Dwarf_Error e;
return dwarf_init_path(\"x\", 0, 0, DW_GROUPNUMBER_ANY, 0, 0, &d, &e); }" LM_DWARF_NEW_INIT)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(LM_DWARF_NEW_INIT)
	target_compile_definitions(lib_dwarf INTERFACE LM_DWARF_NEW_INIT)
endif()

find_path(GLPK_INCLUDE glpk.h REQUIRED)
find_library(GLPK_LIB glpk REQUIRED)
add_library(lib_glpk INTERFACE)
target_include_directories(lib_glpk SYSTEM INTERFACE ${GLPK_INCLUDE})
target_link_libraries(lib_glpk INTERFACE ${GLPK_LIB})

find_path(UTHASH_INCLUDE uthash.h REQUIRED)
add_library(lib_uthash INTERFACE)
target_include_directories(lib_uthash SYSTEM INTERFACE ${UTHASH_INCLUDE})

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
add_library(lib_jansson INTERFACE)
target_link_libraries(lib_jansson INTERFACE PkgConfig::JANSSON)
pkg_check_modules(GIT2 REQUIRED IMPORTED_TARGET libgit2)
add_library(lib_git2 INTERFACE)
target_link_libraries(lib_git2 INTERFACE PkgConfig::GIT2)
