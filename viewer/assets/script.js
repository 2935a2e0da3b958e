// The pages work without this file, which only saves clicks.
"use strict";

const box = document.getElementById("q");
if (box) {
	const form = box.form;
	// A single ID that is pasted into an empty box is explained at once. Anything longer stays in
	// the box for the user to check.
	document.getElementById("q-paste").hidden = false;
	box.addEventListener("paste", () => {
		if (box.value.trim() === "") {
			setTimeout(() => {
				if (/^\S{1,64}$/.test(box.value.trim())) {
					form.requestSubmit();
				}
			}, 0);
		}
	});
	// Enter explains, and Shift with Enter inserts a new line.
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
	button.setAttribute("aria-label", "copy link" + link.querySelector(".hidden").textContent);
	const said = document.createElement("span"); // screen readers announce its changes
	said.className = "said";
	said.setAttribute("role", "status");
	button.addEventListener("click", async () => {
		try {
			await navigator.clipboard.writeText(link.href);
			said.textContent = "copied";
		} catch {
			said.textContent = "not copied";
		}
		setTimeout(() => { said.textContent = ""; }, 2000);
	});
	link.after(" ", button, " ", said);
}
