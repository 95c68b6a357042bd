/**
 * Preloaded for openapi-typescript, which needs the JavaScript API of TypeScript 5. The compiler of this repository has
 * none; @ts-morph/common carries it.
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "typescript" ? "@ts-morph/common/dist/typescript.js" : specifier, context),
});
