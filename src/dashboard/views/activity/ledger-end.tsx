// The end of a list of events: where the ledger ends, or a button that loads what is older.
import { Button, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useFormat } from "../../state/use-format.ts";
import type { LedgerView } from "../../state/use-ledger.ts";

export function LedgerEnd(props: {
  readonly ledger: LedgerView;
  /** Whether none of the loaded events is shown. */
  readonly isEmpty: boolean;
  /** Whether older events are looked through for some that fit. */
  readonly isSearch: boolean;
  readonly onLoad: () => void;
}) {
  const { t } = useTranslation(["activity", "status"]);
  const format = useFormat();
  const { ledger, isEmpty, isSearch } = props;
  const { list, olderError } = ledger;
  if (!list) return null;
  if (!list.hasOlder) {
    return isEmpty ? null : (
      <Text size="sm" c="dimmed" ta="center">
        {t("end")}
      </Text>
    );
  }
  const { lookedBackTo } = list;
  return (
    <Stack gap={6} align="center" role="status">
      {olderError && (
        <Text size="sm" c="red" className="untrusted">
          {olderError.code === 0
            ? t("status:title.unreachable")
            : t("status:text.failed", { message: olderError.message, code: olderError.code })}
        </Text>
      )}
      {lookedBackTo !== undefined ? (
        <Text size="sm" c="dimmed" ta="center">
          {t("lookedBack", { time: format.dateTime(lookedBackTo) })}
        </Text>
      ) : (
        isEmpty && (
          <Text size="sm" c="dimmed" ta="center">
            {t("nothingSoFar")}
          </Text>
        )
      )}
      <Button variant="default" loading={ledger.isLoadingOlder} onClick={props.onLoad}>
        {t(isEmpty || isSearch || lookedBackTo !== undefined ? "lookFurther" : "loadOlder")}
      </Button>
    </Stack>
  );
}
