// Emblem and name in the header: a button that opens the list of servers to switch to. What the list needs is loaded when it is opened.
import { Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Dialog, useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { LazyView } from "../parts/lazy-view.tsx";
import { MarkedText, markInvisible } from "../parts/text/game-text.tsx";
import { ServerEmblem } from "./server-look.tsx";

const loadChoice = async () => (await import("./boxes.ts")).ServerChoice;

export function ServerSwitcher({ heading }: { readonly heading: string }) {
  const { t } = useTranslation("fleet");
  const dialog = useDialog<true>();
  const plain = markInvisible(heading);
  return (
    <>
      <UnstyledButton
        className="server-switcher"
        onClick={() => dialog.open(true)}
        aria-haspopup="dialog"
        title={plain}
      >
        <ServerEmblem name={heading} />
        <Text fw={650} truncate className="untrusted" component="span">
          <MarkedText text={heading} />
        </Text>
        <VisuallyHidden>{t("switchHint")}</VisuallyHidden>
        <Icon name="switch" size={16} />
      </UnstyledButton>
      <Dialog state={dialog} title={t("switch")}>
        {() => <LazyView load={loadChoice} given={{ onClose: dialog.close }} />}
      </Dialog>
    </>
  );
}
