// The form that gives a key a new token, and lets the old one work for a grace period.
import { NativeSelect, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { KeyResource } from "../../../core/wire/key.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { FormError, useFieldReasons, useFocusFirstInvalid, useMendedFields } from "./change.tsx";
import type { ShownToken } from "./token-dialog.tsx";

const GRACE_SECONDS = [0, 3_600, 86_400, 604_800, 2_592_000] as const;

export function RotationForm(props: {
  readonly apiKey: KeyResource;
  readonly onCancel: () => void;
  readonly onDone: (token: ShownToken) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { key_id: keyId, label } = props.apiKey;
  const [graceSeconds, setGraceSeconds] = useState(3_600);
  const { run, isRunning, error } = useAdminChange(
    (seconds: number) => admin.rotateKey(keyId, { grace_seconds: seconds }),
    ["keys"],
  );
  const form = useFocusFirstInvalid(error);
  const reasonFor = useFieldReasons(error);
  const { isMended, mend } = useMendedFields(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    const rotated = await run(graceSeconds);
    if (rotated) {
      const { token, facade_key: facadeKey, old_token_valid_until: oldUntil } = rotated;
      props.onDone({ label, token, facadeKey, oldUntil });
    }
  }
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <Text>
          <NamedSentence names={[label]} write={(place) => t("rotation.text", { label: place })} />
        </Text>
        <NativeSelect
          label={t("rotation.grace")}
          value={String(graceSeconds)}
          onChange={(event) => {
            setGraceSeconds(Number(event.currentTarget.value));
            mend("grace_seconds");
          }}
          data={GRACE_SECONDS.map((seconds) => ({
            value: String(seconds),
            label: t(`rotation.at${seconds}`),
          }))}
          error={isMended("grace_seconds") ? undefined : reasonFor("grace_seconds")}
          data-autofocus
        />
        <FormError error={error} fields={["grace_seconds"]} />
        <DialogButtons label={t("rotation.action")} isRunning={isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}
