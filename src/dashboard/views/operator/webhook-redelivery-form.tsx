// The form that moves a webhook to another place in the ledger, so that it sends from there again.
import { NativeSelect, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { WebhookResource } from "../../../core/wire/webhook.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { FormError } from "./change.tsx";
import { useDeliveries } from "./webhook-deliveries.tsx";
import { listPlaces } from "./webhook-places.ts";

const EARLIEST = "earliest";
const NOW = "now";

export function RedeliveryForm(props: {
  readonly webhook: WebhookResource;
  /** The place that is chosen at first; empty for the earliest. */
  readonly after: string;
  readonly onCancel: () => void;
  readonly onDone: () => void;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  const format = useFormat();
  const { webhook_id: id, label } = props.webhook;
  const { value } = useDeliveries(id);
  const [places] = useState(() => listPlaces(value?.items ?? []));
  const [after, setAfter] = useState(props.after || EARLIEST);
  const { run, isRunning, error } = useAdminChange(
    (place: string) => admin.redeliver(id, { after: place }),
    ["webhooks"],
  );
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (await run(after)) props.onDone();
  }
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <Text>
          <NamedSentence names={[label]} write={(place) => t("redelivery.text", { label: place })} />
        </Text>
        <NativeSelect
          label={t("redelivery.from")}
          value={after}
          onChange={(event) => setAfter(event.currentTarget.value)}
          data={[
            { value: EARLIEST, label: t("redelivery.earliest") },
            ...places.map((place) => ({
              value: place.after,
              label: t("redelivery.after", { time: format.dateTime(place.at) }),
            })),
            { value: NOW, label: t("redelivery.now") },
          ]}
          data-autofocus
        />
        <FormError error={error} />
        <DialogButtons label={t("redelivery.action")} isRunning={isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}
