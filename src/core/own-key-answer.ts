// What a caller is told about its own key, in the shapes of the admin API.
import Type from "typebox";
import { KeyAnswer, ServerAnswer } from "./admin-answers.ts";

const { key_id, versions, sections, commands, expires_at } = KeyAnswer.properties;
const { community } = ServerAnswer.properties;

export const OwnKeyAnswer = Type.Object({
  key_id,
  community,
  versions,
  sections,
  commands,
  expires_at,
});
