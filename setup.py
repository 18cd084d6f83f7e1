"""What pyproject.toml cannot say: the top-level folder `templates` ships as `rekal_site/templates`."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["memories*", "holders*", "rekal_site*"]), "rekal_site.templates"],
    package_dir={"rekal_site.templates": "templates"},
)
