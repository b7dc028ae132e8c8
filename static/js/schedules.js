// The pages of schedules: a new one goes by the time zone of the browser.
import "./dialog.js";
import "./people.js";
import "./time.js";
import "./toast.js";

const zone = document.querySelector("#schedule-form[data-new] [name=zone]");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && [...zone.list.options].some(({ value }) => value === own)) zone.value = own;
