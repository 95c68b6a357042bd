import { testOn } from "./on-runtime.ts";

testOn("bun");
