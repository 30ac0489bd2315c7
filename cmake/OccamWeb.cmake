# occam_page(TARGET): embeds what a report's page is made of into TARGET. Vega, which draws the figures, is
# bundled from the packages that `make setup` fetches; the build itself never uses the network. Where they are
# missing, everything builds all the same: pages then hold tables and say that figures were left out.
function(occam_page target)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/report)
  set(web ${source}/web)
  set(bundle ${CMAKE_BINARY_DIR}/generated/figures.txt)
  # The folder changes when packages are installed or removed: then look again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web} ${web}/package-lock.json)

  find_program(OCCAM_NODE NAMES node nodejs)
  set(wanted "")
  set(installed "none")
  file(READ ${web}/package-lock.json wanted)
  if(EXISTS ${web}/node_modules/.installed-lock.json)
    file(READ ${web}/node_modules/.installed-lock.json installed)
  endif()
  if(OCCAM_NODE AND wanted STREQUAL installed)
    add_custom_command(OUTPUT ${bundle} COMMAND ${OCCAM_NODE} ${web}/bundle.mjs ${bundle}
                       DEPENDS ${web}/bundle.mjs ${web}/figures.js ${web}/package-lock.json
                       COMMENT "Bundling the figures of reports" VERBATIM)
  else()
    message(WARNING "Reports are built without figures: the packages that draw them are not in ${web}/node_modules. "
                    "`make setup` fetches them with npm (nodejs 18 or later).")
    add_custom_command(OUTPUT ${bundle} COMMAND ${CMAKE_COMMAND} -E rm -f ${bundle}
                       COMMAND ${CMAKE_COMMAND} -E touch ${bundle} VERBATIM)
  endif()

  set(page ${source}/page.cpp)
  set_source_files_properties(${page} PROPERTIES OBJECT_DEPENDS "${bundle};${web}/page.css;${web}/element.js;${web}/page.js"
    COMPILE_DEFINITIONS "OCCAM_PAGE_STYLE=\"${web}/page.css\";OCCAM_PAGE_ELEMENT=\"${web}/element.js\";OCCAM_PAGE_SCRIPT=\"${web}/page.js\";OCCAM_PAGE_FIGURES=\"${bundle}\""
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
