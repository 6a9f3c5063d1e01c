import NIOSSL
import SignetCore
import YAMLText

extension ConfigurationDecoder {
    /// Decodes the settings of the section `email`.
    /// - Parameter checksFiles: True when the files that the section names are checked.
    /// - Returns: The server that delivers emails; nil when they are only kept for the tester.
    mutating func emailDelivery(checksFiles: Bool) -> SMTPConfiguration? {
        let sender = optionalString("from", kind: "an email address", default: "`signet@localhost`")
        check("from", sender, "an email address in ASCII, such as `login@example.test`") { TextRule.isSender($0) }
        let smtp: SMTPConfiguration?? = section("smtp", kind: "settings of a mail server", default: "emails are not delivered") {
            $0.smtp(checksFiles: checksFiles)
        }
        guard var configuration = smtp ?? nil else { return nil }
        configuration.sender = sender ?? configuration.sender
        return configuration
    }

    private mutating func smtp(checksFiles: Bool) -> SMTPConfiguration? {
        let host = requiredString("host", kind: "a host name or an IP address")
        check("host", host, "a host name or an IP address") { TextRule.isHost($0) || $0.contains(":") }
        var smtp = SMTPConfiguration(host: host)
        smtp.port = integer("port", smtp.port, in: 1...65_535)
        smtp.security = choice("security", "none", ["none": .none, "starttls": .startTLS]) ?? smtp.security
        smtp.username = optionalString("username", default: "no login")
        smtp.password = value("password", kind: "a string, in quotes if it could be read as another type", form: .string)?.text
            .map { Secret($0.utf8) }
        if (smtp.username == nil) != (smtp.password == nil) {
            let missing = smtp.username == nil ? "username" : "password"
            report(.missingSetting, at: position, "`\(missing)` is missing: a login has a `username` and a `password`")
        }
        if smtp.password != nil, smtp.security == .none, !EndpointPolicy.isLoopback(host) {
            report(.conflict, in: "password", "a `password` for another machine needs `security: starttls`")
        }
        smtp.authorities = optionalString("authorities", kind: "the path of a PEM file", default: "those of the system")
        if let path = smtp.authorities {
            if smtp.security == .none { report(.conflict, in: "authorities", "`authorities` needs `security: starttls`") }
            if checksFiles, (try? NIOSSLCertificate.fromPEMFile(path))?.isEmpty != false {
                report(.unusableResource, in: "authorities", "`authorities`: \(path) is not a PEM file with certificates")
            }
        }
        smtp.timeout = integer("timeout", smtp.timeout, in: 1...300)
        return host.isEmpty ? nil : smtp
    }
}

extension TextRule {
    /// Returns true for an address that can be the sender of an email: ASCII without spaces and angle brackets, with one `@`.
    static func isSender(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
    }
}
