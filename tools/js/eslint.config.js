// Lint of the page's JavaScript: eslint's recommended rules, and a JSDoc comment for every function and class.
import js from "@eslint/js";
import jsdoc from "eslint-plugin-jsdoc";
import globals from "globals";

const documented = {
  FunctionDeclaration: true,
  ClassDeclaration: true,
  MethodDefinition: true,
};

export default [
  { files: ["**/*.js"] },
  { ignores: ["**/*.d.ts", "tools/js/node_modules/"] },
  js.configs.recommended,
  { rules: { "max-len": ["error", 120] } },
  {
    files: ["app/static/**/*.js"],
    languageOptions: { globals: globals.browser },
    plugins: { jsdoc },
    rules: {
      "jsdoc/require-jsdoc": ["error", { require: documented, checkConstructors: false, checkSetters: false }],
      "jsdoc/require-param": ["error", { checkDestructured: false }],
      "jsdoc/require-param-type": "error",
      "jsdoc/check-param-names": ["error", { checkDestructured: false }],
      eqeqeq: "error",
      "prefer-const": "error",
      "no-var": "error",
      "object-shorthand": "error",
    },
  },
  { files: ["tests/js/**/*.js", "tools/js/*.js"], languageOptions: { globals: globals.node } },
];
