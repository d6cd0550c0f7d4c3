# fx_border(NAME TARGET FOUND): gives TARGET what <fx/NAME.hpp> needs beyond fx::fx; FOUND says whether its package is
# here. Used by fx's own build and by the installed fxConfig.cmake.
function(fx_border name target found)
  set(${found} FALSE PARENT_SCOPE)
  if(name STREQUAL hana)
    find_package(Boost 1.71 QUIET)
    if(NOT TARGET Boost::headers)
      return()
    endif()
    target_link_libraries(${target} INTERFACE fx::fx Boost::headers)
  elseif(name STREQUAL xtensor)
    find_package(xtensor QUIET)
    if(NOT TARGET xtensor)
      return()
    endif()
    target_link_libraries(${target} INTERFACE fx::fx xtensor)
    # xtensor before 0.25 does not compile with clang 19's matching of template template arguments.
    if(xtensor_VERSION VERSION_LESS 0.25)
      set(clang19 $<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,19>>)
      target_compile_options(${target} INTERFACE
        $<${clang19}:-fno-relaxed-template-template-args>
        $<${clang19}:-Wno-deprecated-no-relaxed-template-template-args>)
    endif()
  else()
    return()
  endif()
  set(${found} TRUE PARENT_SCOPE)
endfunction()
