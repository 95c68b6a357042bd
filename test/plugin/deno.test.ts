import { testElsewhere } from "./harness.ts";

testElsewhere("deno");
