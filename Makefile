.PHONY: lab test bench image clean

lab test bench:
	@python3 -I labs/bootstrap.py $@

image:
	@python3 -I labs/house/build_image.py

clean:
	@rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find labs tests -name __pycache__ -prune -exec rm -rf {} +
