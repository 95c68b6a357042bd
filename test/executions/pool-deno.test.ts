import { testOn } from "./on-runtime.ts";

testOn("deno");
