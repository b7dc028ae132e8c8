// What the page of permission rules loads.
import "./time.js";
import "./toast.js";
