// Makes the keys of the page work, and shows them in a dialog.
import { ActionIcon, Tooltip } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Dialog, useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { useViewHref } from "../state/route.ts";
import type { View } from "../view-list.ts";
import { KeyList } from "./key-list.tsx";
import { useKeysOn } from "./key-switch.ts";
import { focusSearch, useKeys } from "./use-keys.ts";

export function KeyboardButton({ views }: { readonly views: readonly View[] }) {
  const { t } = useTranslation("keyboard");
  const hrefOf = useViewHref();
  const dialog = useDialog<true>();
  useKeys(
    useKeysOn(),
    views.map(({ name }) => name),
    (action) => {
      if (action.kind === "search") focusSearch();
      else if (action.kind === "help") dialog.open(true);
      else location.hash = hrefOf(action.name);
    },
  );
  return (
    <>
      <Tooltip label={t("title")}>
        <ActionIcon className="for-keyboards" aria-label={t("title")} onClick={() => dialog.open(true)}>
          <Icon name="keyboard" />
        </ActionIcon>
      </Tooltip>
      <Dialog state={dialog} title={t("title")}>
        {() => <KeyList views={views} />}
      </Dialog>
    </>
  );
}
