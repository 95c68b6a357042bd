/** A button whose action needs a confirmation. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

export function ConfirmButton({
  label,
  question,
  detail,
  kind = "",
  dismiss = "Cancel",
  disabled = false,
  children,
  onConfirm,
}: {
  label: string;
  question: string;
  detail?: string;
  kind?: "danger" | "";
  /** The other button. */
  dismiss?: string;
  disabled?: boolean;
  /** Fields of the dialog. */
  children?: ComponentChildren;
  onConfirm(): unknown;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class={kind} disabled={disabled} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <p>{question}</p>
        {detail === undefined ? null : <p class="dim">{detail}</p>}
        {children}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {dismiss}
          </button>
          <button
            type="button"
            class={kind || "primary"}
            onClick={() => {
              dialog.current?.close();
              void onConfirm();
            }}
          >
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}
