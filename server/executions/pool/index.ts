/** What the server and the command line use of the pool. */
export type * from "./contract.ts";
export { provideModules } from "./modules.ts";
export { createPools } from "./pools.ts";
