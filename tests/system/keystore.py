"""Keystores of ROS 2 for tests, laid out as sros2 does, made with the openssl command.

    store = Keystore(folder, domains=(20, 24))
    store.add_enclave("/talker", publish=["rt/clock"], subscribe=["*"])"""

import os
import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
DAYS = "30"
FILES = (
    "identity_ca.cert.pem",
    "cert.pem",
    "key.pem",
    "permissions_ca.cert.pem",
    "governance.p7s",
    "permissions.p7s",
)

GOVERNANCE = """<?xml version="1.0" encoding="UTF-8"?>
<dds><domain_access_rules><domain_rule>
<domains><id_range><min>{first}</min><max>{last}</max></id_range></domains>
<allow_unauthenticated_participants>{outsiders}</allow_unauthenticated_participants>
<enable_join_access_control>true</enable_join_access_control>
<discovery_protection_kind>ENCRYPT</discovery_protection_kind>
<liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>
<rtps_protection_kind>{rtps}</rtps_protection_kind>
<topic_access_rules><topic_rule>
<topic_expression>*</topic_expression>
<enable_discovery_protection>true</enable_discovery_protection>
<enable_liveliness_protection>true</enable_liveliness_protection>
<enable_read_access_control>true</enable_read_access_control>
<enable_write_access_control>true</enable_write_access_control>
<metadata_protection_kind>ENCRYPT</metadata_protection_kind>
<data_protection_kind>ENCRYPT</data_protection_kind>
</topic_rule></topic_access_rules>
</domain_rule></domain_access_rules></dds>
"""

PERMISSIONS = """<?xml version="1.0" encoding="UTF-8"?>
<dds><permissions><grant name="{name}">
<subject_name>CN={name}</subject_name>
<validity><not_before>{begin}</not_before><not_after>{end}</not_after></validity>
<allow_rule>
<domains><id_range><min>{first}</min><max>{last}</max></id_range></domains>
{rules}
</allow_rule>
<default>DENY</default>
</grant></permissions></dds>
"""


def openssl(*arguments):
    result = subprocess.run(("openssl", *arguments), capture_output=True, text=True, timeout=60)
    if result.returncode:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {result.stderr}")


class Authority:
    """A certificate of its own, and what it signs."""

    def __init__(self, folder, name):
        self.certificate = os.path.join(folder, f"{name}.cert.pem")
        self.key = os.path.join(folder, f"{name}.key.pem")
        openssl("req", "-x509", *KEY, "-keyout", self.key, "-out", self.certificate,
                "-days", DAYS, "-subj", f"/CN={name}")  # fmt: skip

    def certify(self, name, key, certificate, days=DAYS):
        request = certificate + ".request"
        subject = "/CN=" + name.replace("/", "\\/")
        openssl("req", "-new", *KEY, "-keyout", key, "-out", request, "-subj", subject)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                "-CAcreateserial", "-days", days, "-out", certificate)  # fmt: skip
        os.remove(request)

    def sign(self, text, path):
        plain = path + ".xml"
        with open(plain, "w", encoding="ascii") as file:
            file.write(text)
        openssl("smime", "-sign", "-text", "-in", plain, "-out", path, "-signer",
                self.certificate, "-inkey", self.key)  # fmt: skip
        os.remove(plain)


class Keystore:
    def __init__(self, folder, domains, outsiders=False, rtps="SIGN"):
        self.root = folder
        self.first, self.last = domains
        private = os.path.join(folder, "private")
        os.makedirs(private)
        self.identity = Authority(private, "identity_ca")
        self.permissions = Authority(private, "permissions_ca")
        self.governance = os.path.join(folder, "enclaves", "governance.p7s")
        os.makedirs(os.path.dirname(self.governance))
        text = GOVERNANCE.format(
            first=self.first, last=self.last, outsiders=str(outsiders).lower(), rtps=rtps
        )
        self.permissions.sign(text, self.governance)

    def path(self, enclave, file=""):
        return os.path.join(self.root, "enclaves", enclave.lstrip("/"), file)

    def sign_permissions(self, enclave, publish, subscribe, authority=None, years=(2020, 2090)):
        rules = ""
        for verb, topics in (("publish", publish), ("subscribe", subscribe)):
            names = "".join(f"<topic>{topic}</topic>" for topic in topics)
            rules += f"<{verb}><topics>{names}</topics></{verb}>\n" if topics else ""
        text = PERMISSIONS.format(
            name=enclave,
            begin=f"{years[0]}-01-01T00:00:00",
            end=f"{years[1]}-01-01T00:00:00",
            first=self.first,
            last=self.last,
            rules=rules,
        )
        (authority or self.permissions).sign(text, self.path(enclave, "permissions.p7s"))

    def add_enclave(self, enclave, publish=("*",), subscribe=("*",)):
        os.makedirs(self.path(enclave), exist_ok=True)
        shared = [
            (self.identity.certificate, "identity_ca.cert.pem"),
            (self.permissions.certificate, "permissions_ca.cert.pem"),
            (self.governance, "governance.p7s"),
        ]
        for source, file in shared:  # by links, as sros2 does
            if source != self.path(enclave, file):
                os.symlink(os.path.relpath(source, self.path(enclave)), self.path(enclave, file))
        self.identity.certify(enclave, self.path(enclave, "key.pem"), self.path(enclave, "cert.pem"))
        self.sign_permissions(enclave, publish, subscribe)
