// Where the page starts.
import "./late-import.ts";
import "./page.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startTranslation } from "./i18n.ts";

await startTranslation();
const root = document.getElementById("root");
if (!root) throw new Error("the page has no place for the dashboard");
createRoot(root).render(<App />);
