package import SignetCore

/// The `Message` parameter of a publication with `MessageStructure=json`.
///
/// As AM does, it contains one text for each platform (protocol/authenticator.md section 4.1).
package enum SNSEnvelope {
    /// Wraps a message in the format of AM, including AM's spelling of `PRIORITY`.
    /// - Parameters:
    ///   - delivery: The message and its id.
    ///   - text: The text that the user reads in the notification.
    /// - Returns: A JSON object with the text as `default`, and with the message as JSON for each platform.
    package static func wrap(_ delivery: PushDelivery, text: String) -> String {
        let google: JSONValue = .object([
            "PRIORITY": .string("high"),
            "data": .object(["message": .string(delivery.message), "messageId": .string(delivery.messageId)]),
        ])
        let apple: JSONValue = .object([
            "aps": .object([
                "alert": .string(text), "sound": .string("default"), "messageId": .string(delivery.messageId),
                "data": .string(delivery.message), "content-available": .string("1"),
            ])
        ])
        return JSON.text(
            of: .object([
                "default": .string(text), SNSResource.Platform.google.rawValue: .string(JSON.text(of: google)),
                SNSResource.Platform.apple.rawValue: .string(JSON.text(of: apple)),
                SNSResource.Platform.appleSandbox.rawValue: .string(JSON.text(of: apple)),
            ]))
    }

    /// Returns the message for a device of a platform; nil when the envelope contains none.
    ///
    /// For Google, it reads both the legacy FCM format and the HTTP v1 format.
    /// - Parameters:
    ///   - message: The envelope.
    ///   - subject: The subject of the publication, which is handed on with the message.
    ///   - platform: The platform of the device.
    /// - Returns: The message with the subject.
    package static func unwrap(
        _ message: String, subject: String? = nil, for platform: SNSResource.Platform
    ) -> PushDelivery? {
        guard let texts = try? JSON.value(of: message.utf8), let text = texts[platform.rawValue]?.string,
            let json = try? JSON.value(of: text.utf8)
        else { return nil }
        let (part, name) =
            switch platform {
            case .apple, .appleSandbox: (json["aps"], "data")
            case .google: (json["data"] ?? json["fcmV1Message"]?["message"]?["data"], "message")
            }
        guard let id = part?["messageId"]?.string, !id.isEmpty, let body = part?[name]?.string, !body.isEmpty else { return nil }
        return PushDelivery(messageId: id, message: body, subject: subject)
    }

    /// Returns a subject that SNS accepts: one line of at most 99 ASCII characters.
    ///
    /// It returns nil when no characters remain.
    package static func subject(_ text: String) -> String? {
        let line = String(decoding: text.utf8.filter { $0 >= 0x20 && $0 < 0x7F }.prefix(99), as: UTF8.self).trimming(" ")
        return line.isEmpty ? nil : String(line)
    }
}
