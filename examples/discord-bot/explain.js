// Turns an error into a sentence for the people in the channel, without details that only the operator needs.
import { GatehouseError } from "gatehouse-client";

export function explain(error) {
  if (!(error instanceof GatehouseError)) {
    console.error(error);
    return "I have a fault. Please tell my owner.";
  }
  switch (error.code) {
    case 0:
      // A command may have arrived without its answer.
      return error.idempotencyKey === undefined
        ? "I cannot reach Gatehouse."
        : "I cannot reach Gatehouse. Check before you send it again.";
    case 5007:
    case 5008:
      return "My key is not valid any more. Please tell my owner.";
    case 5009:
    case 5010:
    case 5011:
      return "My key does not allow that. Please tell my owner.";
    case 5015:
      return "Too many commands are waiting already. Try again in a moment.";
    case 5016:
    case 5100:
      return `I have asked too often. Try again in ${error.retryAfter} s.`;
    case 5019:
      return explainGame(error);
    default:
      return `Gatehouse answered: ${error.body.message}.`;
  }
}

function explainGame({ upstreamCode }) {
  if (upstreamCode === 3002) return "The server is offline: nobody is playing.";
  if (upstreamCode === 4001) return "The game API needs a pause. Try again in a moment.";
  return "The game API does not answer properly right now.";
}
