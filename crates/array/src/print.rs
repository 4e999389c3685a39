//! Arrays as text, the way MLX prints them.
