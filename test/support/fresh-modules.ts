/** Each test file has modules of its own, with their state, although it shares its process with others. */
import { vi } from "vitest";

vi.resetModules();
