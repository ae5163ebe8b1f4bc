"""Pages as their readers see them: active content, links, claims, texts of the template."""
