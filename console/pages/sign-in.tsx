import { useState } from "preact/hooks";
import { signIn } from "../lib/session.ts";

export function SignInPage() {
  const [key, setKey] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  return (
    <main class="sign-in">
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          setBusy(true);
          setError("");
          await signIn(key.trim()).catch((thrown: Error) => setError(thrown.message));
          setBusy(false);
        }}
      >
        <h1>svc</h1>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="svc_…"
          value={key}
          required
          aria-describedby="key-hint"
          aria-invalid={error !== ""}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <p id="key-hint" class="dim">
          <code>svc serve</code> prints the first key, and <code>svc keys create --scope read</code> creates
          others. A session lasts 12 hours.
        </p>
        {error === "" ? null : (
          <p class="failure" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="primary" disabled={busy || key.trim() === ""}>
          Sign in
        </button>
      </form>
    </main>
  );
}
