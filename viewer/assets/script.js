// The pages work without this file. It saves clicks.
"use strict";

const box = document.getElementById("q");
if (box) {
	const form = box.form;
	// What is pasted into an empty box is explained at once.
	box.addEventListener("paste", () => {
		if (box.value.trim() === "") {
			setTimeout(() => form.requestSubmit(), 0);
		}
	});
	// Enter explains, and Shift with Enter is a new line.
	box.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
			event.preventDefault();
			form.requestSubmit();
		}
	});
}

// A link to an ID copies its address.
for (const link of document.querySelectorAll("a.permalink")) {
	if (!navigator.clipboard) {
		continue; // the page came without TLS
	}
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "copy link";
	button.addEventListener("click", async () => {
		try {
			await navigator.clipboard.writeText(link.href);
			button.textContent = "copied";
		} catch {
			button.textContent = "not copied";
		}
		setTimeout(() => { button.textContent = "copy link"; }, 2000);
	});
	link.after(" ", button);
}
