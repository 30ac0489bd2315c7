// Ahead of the scripts of reports and of pages that compare. Children that are text become text nodes, never html.
"use strict";
function element(name, attributes = {}, ...children) {
  const result = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) result.addEventListener(key.slice(2), value);
    else if (value === true) result.setAttribute(key, "");
    else if (value !== false && value !== undefined) result.setAttribute(key, value);
  }
  result.append(...children);
  return result;
}
