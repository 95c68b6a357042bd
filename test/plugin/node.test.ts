import { testHere } from "./harness.ts";

testHere();
