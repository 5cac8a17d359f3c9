// The menu under the name of whoever is signed in: their own page, language, colours, the keys of the page, signing out.
import { Button, Popover, Stack, Text, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { type ComponentProps, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { changeLanguage, LANGUAGES } from "../i18n.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { LANGUAGE_NAMES } from "../parts/page-switches.tsx";
import { cutText, MarkedText, markInvisible } from "../parts/text/game-text.tsx";
import { hrefOf } from "../state/route.ts";
import { useMe } from "../state/session/person.ts";
import { type Session, useSession } from "../state/session/session.ts";

const NAME_MAX = 60;

/** The name of a person, or the label of a key; undefined for the master key. */
function useOwnName(session: Session): string | undefined {
  const me = useMe(session.kind === "viewer" ? undefined : session.person);
  if (me) return me.person.name;
  return session.kind === "caller" ? session.ownKey.label || undefined : undefined;
}

/** `onHelp` shows the keys of the page. */
export function NameMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { t, i18n } = useTranslation(["shell", "keyboard", "me"]);
  const { session, signOut } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const [isOpen, setOpen] = useState(false);
  const name = cutText(useOwnName(session) ?? t(session.kind === "caller" ? "key" : "masterKey"), NAME_MAX).text;
  const isPerson = session.kind !== "viewer" && session.person !== undefined;
  const choose = (run: () => void) => () => {
    setOpen(false);
    run();
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          className="name-button"
          leftSection={<Icon name="me" size={18} />}
          rightSection={<Icon name="down" size={14} />}
          aria-label={t("menuOf", { name: markInvisible(name) })}
          onClick={() => setOpen(!isOpen)}
        >
          <Text truncate component="span" className="untrusted" size="sm" fw={600}>
            <MarkedText text={name} />
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={4} aria-label={t("menuOf", { name: markInvisible(name) })}>
        <Stack gap={0}>
          {isPerson && (
            <Entry icon="me" component="a" href={hrefOf("me")} onClick={() => setOpen(false)}>
              {t("me:title")}
            </Entry>
          )}
          {LANGUAGES.filter((language) => language !== i18n.language).map((language) => (
            <Entry key={language} icon="chat" onClick={choose(() => void changeLanguage(language))} lang={language}>
              {t(LANGUAGE_NAMES[language])}
            </Entry>
          ))}
          <Entry
            icon={scheme === "light" ? "moon" : "sun"}
            onClick={() => setColorScheme(scheme === "light" ? "dark" : "light")}
          >
            {t(scheme === "light" ? "toDark" : "toLight")}
          </Entry>
          <Entry icon="keyboard" className="for-keyboards" onClick={choose(onHelp)}>
            {t("keyboard:title")}
          </Entry>
          <Entry icon="leave" onClick={() => signOut()}>
            {t("signOut")}
          </Entry>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

type EntryProps = ComponentProps<typeof Button<"a">> & { readonly icon: IconName; readonly children: ReactNode };

function Entry({ icon, ...props }: Omit<EntryProps, "component"> & { readonly component?: "a" }) {
  return (
    <Button
      variant="subtle"
      color="gray"
      justify="flex-start"
      fw={500}
      leftSection={<Icon name={icon} size={18} />}
      {...(props as ComponentProps<typeof Button>)}
    />
  );
}
