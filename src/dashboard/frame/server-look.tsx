// What tells one server from another at a glance: a colour derived from its id, and its initials as an emblem in the page and
// as the icon of the tab.
import { useEffect } from "react";
import { Icon } from "../parts/icon.tsx";
import { writeInitials } from "../parts/text/initials.ts";
import { useSession } from "../state/session/session.ts";

/** From green over blue to magenta: red and orange mean danger, and dark yellow is mud. Neighbours can be told apart. */
const HUES = { first: 145, step: 22, count: 9 };

/** FNV-1a, so that ids that differ in one character get different hues. */
export function hueOf(serverId: string): number {
  let hash = 0x811c9dc5;
  for (const character of serverId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return HUES.first + ((hash >>> 0) % HUES.count) * HUES.step;
}

function useServerHue(): number | undefined {
  const { session } = useSession();
  return session.kind === "admin" ? undefined : hueOf(session.serverId);
}

/** Colours the page, and gives its tab the icon of the server: with a dot while somebody waits. */
export function useServerLook(name: string, isAwaited: boolean): void {
  const hue = useServerHue();
  const initials = writeInitials(name);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (hue === undefined || !link) return;
    const { style } = document.documentElement;
    const own = link.href;
    style.setProperty("--accent-hue", String(hue));
    link.href = drawIcon(hue, initials, isAwaited);
    return () => {
      style.removeProperty("--accent-hue");
      link.href = own;
    };
  }, [hue, initials, isAwaited]);
}

function drawIcon(hue: number, initials: string, isAwaited: boolean): string {
  const dot = isAwaited ? "<circle cx='25' cy='7' r='7' fill='#e8590c'/>" : "";
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>
<rect width='32' height='32' rx='7' fill='oklch(0.5 0.13 ${hue})'/>
<text x='16' y='22' text-anchor='middle' font-family='sans-serif' font-weight='700' font-size='16' fill='white'>${initials}</text>
${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** The emblem of the open server, or the gate of Gatehouse. */
export function ServerEmblem({ name }: { readonly name: string }) {
  const hue = useServerHue();
  return (
    <span className="server-emblem" aria-hidden {...(hue !== undefined && { "data-initials": writeInitials(name) })}>
      {hue === undefined && <Icon name="gate" size={20} />}
    </span>
  );
}
