import { testWithin } from "./on-runtime.ts";

testWithin();
