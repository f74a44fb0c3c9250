import { defineConfig } from "vite";

// The same page as one ES module for Jupyter (anywidget); its styles are a text inside it.
export default defineConfig({
  build: {
    outDir: "../src/mustlink/studio/page",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" },
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
