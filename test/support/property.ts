/**
 * fast-check, for tests of properties. `npm test` always tries the same values, so that a failure comes from the change under
 * test. `npm run test:fuzz` tries random ones.
 */
import fc from "fast-check";
import { isFuzzing } from "./rounds.ts";

if (!isFuzzing) fc.configureGlobal({ seed: 1 });

export default fc;
