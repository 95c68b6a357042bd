/** The session of the browser. No script sees its cookie. */
import { signal } from "./signal.ts";

export interface Session {
  organization: string;
  key_name: string;
  scope: Scope;
  version: string;
  expires_at: string;
}

const scopes = ["read", "trigger", "deploy", "full"] as const;
export type Scope = (typeof scopes)[number];

/** Undefined until it is known; null when signed out. */
export const session = signal<Session | null | undefined>(undefined);

const url = new URL("session", new URL(".", document.baseURI));

export async function loadSession(): Promise<void> {
  const response = await fetch(url).catch(() => null);
  session.set(response?.ok === true ? ((await response.json()) as Session) : null);
}

/** @throws Error with the message of the service */
export async function signIn(key: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  if (!response.ok) {
    const body = (await response.json().catch(() => null)) as { message?: string } | null;
    throw new Error(body?.message ?? `The service answered with the status ${response.status}.`);
  }
  await loadSession();
}

export async function signOut(): Promise<void> {
  await fetch(url, { method: "DELETE" }).catch(() => null);
  session.set(null);
}

/** The service has refused the session. */
export function signedOut(): void {
  session.set(null);
}

export function allows(scope: Scope): boolean {
  const held = session.get()?.scope ?? "read";
  return scopes.indexOf(held) >= scopes.indexOf(scope);
}
