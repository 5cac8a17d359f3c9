// How a player is taken out of the states of alerts. A raised alert stays, so that it is cleared. A call that nobody is told
// of yet is dropped: nobody could be helped by an alert about it.
import { FORGOTTEN_ID, FORGOTTEN_NAME, type PlayerEraser } from "../events/forget-player.ts";
import type { AlertMemory, AlertSubject } from "./alert-states.ts";

/** Returns the same memory when it does not name the player. */
export function forgetInAlerts(memory: AlertMemory, id: string, eraser: PlayerEraser): AlertMemory {
  const { states } = memory;
  const killers = forgetSubjects(states.killers, id, eraser);
  const commands = forgetSubjects(states.commands, id, eraser);
  const named = forgetSubjects(states.calls, id, eraser);
  const calls =
    named === states.calls
      ? named
      : named.filter(({ player, isRaised }) => isRaised || player !== FORGOTTEN_ID);
  const isSame = killers === states.killers && commands === states.commands && calls === states.calls;
  return isSame ? memory : { ...memory, states: { ...states, killers, commands, calls } };
}

function forgetSubjects<T extends AlertSubject>(
  subjects: readonly T[],
  id: string,
  eraser: PlayerEraser,
): readonly T[] {
  const isNamed = ({ player, subject }: T) =>
    player === id || (player === null && eraser.eraseName(subject) !== subject);
  if (!subjects.some(isNamed)) return subjects;
  const subject = `${FORGOTTEN_NAME}:${FORGOTTEN_ID}`;
  return subjects.map((one) => (isNamed(one) ? { ...one, player: FORGOTTEN_ID, subject } : one));
}
