// Starts the page.
import "./lazy-import.ts";
import "./page.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startTranslation } from "./i18n.ts";
import { ignoreStrayClicks } from "./parts/stray-clicks.ts";

ignoreStrayClicks();
await startTranslation();
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element #root");
createRoot(root).render(<App />);
