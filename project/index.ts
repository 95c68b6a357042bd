/** What the server and the command line share: the project file, its package, its mappings. */
export { CollectError, type CollectedFile, collectProject } from "./collect.ts";
export type * from "./definition.ts";
export { type FieldMapping, signatureSchemes } from "./definition.ts";
export * from "./file.ts";
export { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
export { type PackageLimits, packageLimits } from "./limits.ts";
export { compileMapping, type Mapping, type TraceEntry } from "./mapping.ts";
export { isIdentifier, isName, nameRule } from "./names.ts";
export { type PackedProject, packFiles } from "./pack.ts";
export { type PathStep, parsePath } from "./path.ts";
export { type FileProblem, type PreparedProject, prepareProject } from "./prepare.ts";
export { stageFiles } from "./stage.ts";
export { didYouMean, suggest } from "./suggest.ts";
export { PackageError, type UnpackedFile, unpackPackage } from "./unpack.ts";
