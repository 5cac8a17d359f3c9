// Shared by the operator's forms and dialogs: the API's reasons at their fields, and a confirmation before a change.
import { Alert, Stack, Text } from "@mantine/core";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError, Outcome } from "../../api/request.ts";
import { Dialog, DialogButtons, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useAdminChange } from "../../state/use-admin.ts";
import { recogniseReason } from "./reasons.ts";

/** Finds the API's reason for refusing a field, in the user's language. */
export function useFieldReasons(error: ApiError | undefined): (field: string) => string | undefined {
  const { t } = useTranslation("operatorReasons");
  return (field) => {
    const reason = error?.details?.[field];
    const known = reason === undefined ? undefined : recogniseReason(reason);
    return known ? t(known.name, { place: known.place }) : reason;
  };
}

/** The fields that the user has changed since the refusal; the reasons at them do not hold any more. */
export function useMendedFields(refusal: unknown) {
  const [mended, setMended] = useState<{ readonly refusal: unknown; readonly fields: readonly string[] }>();
  const fields = mended !== undefined && mended.refusal === refusal ? mended.fields : [];
  return {
    isMended: (field: string) => fields.includes(field),
    mend(field: string): void {
      if (refusal && !fields.includes(field)) setMended({ refusal, fields: [...fields, field] });
    },
  };
}

/** The returned ref belongs on the form. After a refusal the first field with a reason gets the focus. */
export function useFocusFirstInvalid(refusal: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!refusal) return;
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-wrong] input");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [refusal]);
  return form;
}

/** Shows an error, and the reasons for fields that the form does not show itself. */
export function FormError(props: {
  readonly error: ApiError | undefined;
  readonly fields?: readonly string[];
}) {
  const { t } = useTranslation("status");
  const { error, fields = [] } = props;
  const reasonFor = useFieldReasons(error);
  if (!error) return null;
  const details = Object.keys(error.details ?? {});
  const otherFields = details.filter((field) => !fields.includes(field));
  if (details.length > 0 && otherFields.length === 0) return null;
  const isUnreachable = error.code === 0;
  return (
    <Alert
      role="alert"
      color="red"
      title={t(isUnreachable ? "title.unreachable" : "title.failed")}
      icon={<Icon name="warning" />}
    >
      {!isUnreachable && (
        <Text size="sm">{t("text.failed", { message: error.message, code: error.code })}</Text>
      )}
      {otherFields.map((field) => (
        <Text size="sm" key={field} className="untrusted">
          {field}: {reasonFor(field)}
        </Text>
      ))}
    </Alert>
  );
}

/** Asks for a confirmation, makes the change, and shows the error when it fails. */
export function ChangeDialog<I, T>(props: {
  readonly state: DialogState<I>;
  readonly title: string;
  readonly label: string;
  readonly cancelLabel?: string;
  readonly change: (item: I) => Promise<Outcome<T>>;
  readonly invalidates: readonly string[];
  readonly onDone?: (value: T | undefined, item: I) => void;
  readonly children: (item: I) => ReactNode;
}) {
  return (
    <Dialog state={props.state} title={props.title}>
      {(item) => <ChangeDialogBody {...props} item={item} />}
    </Dialog>
  );
}

function ChangeDialogBody<I, T>(props: Parameters<typeof ChangeDialog<I, T>>[0] & { readonly item: I }) {
  const { item, state } = props;
  // The value of a 204 is undefined, as is the result of a failure. Wrapping the value tells them apart.
  const { run, isRunning, error } = useAdminChange(async (given: I) => {
    const outcome = await props.change(given);
    return outcome.ok ? { ...outcome, value: { value: outcome.value } } : outcome;
  }, props.invalidates);
  async function confirm() {
    const done = await run(item);
    if (!done) return;
    state.close();
    props.onDone?.(done.value, item);
  }
  return (
    <Stack gap="sm">
      {props.children(item)}
      <FormError error={error} />
      <DialogButtons
        label={props.label}
        cancelLabel={props.cancelLabel}
        isDangerous
        isRunning={isRunning}
        onCancel={state.close}
        onConfirm={() => void confirm()}
      />
    </Stack>
  );
}
