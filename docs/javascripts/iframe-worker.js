// The search runs in a Worker, and browsers refuse Workers to pages that are opened from a folder
// (file://). There, this is a Worker that runs its script in a hidden frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = new Promise((resolve, reject) => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        frame.srcdoc = "<!doctype html><title>search</title>";
        frame.onload = () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inside.document.createElement("script");
          script.src = url;
          script.onload = () => resolve(inside);
          script.onerror = reject;
          inside.document.head.append(script);
        };
        const insert = () => document.body.append(frame);
        document.body ? insert() : addEventListener("DOMContentLoaded", insert);
      });
    }

    async postMessage(data) {
      const inside = await this.frame;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    async terminate() {
      (await this.frame).frameElement.remove();
    }
  };
}
