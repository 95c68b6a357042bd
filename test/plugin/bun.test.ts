import { testElsewhere } from "./harness.ts";

testElsewhere("bun");
