// What the page needs of Vega. Specifications are compiled by Vega-Lite and run by Vega, with the interpreter for
// expressions, so that the page can forbid the evaluation of text as code.
export { parse, View, loader } from "vega";
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
