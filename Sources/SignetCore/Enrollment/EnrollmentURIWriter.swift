/// Writes an enrollment as a URI that every existing authenticator can read.
struct EnrollmentURIWriter {
    let text: String

    /// Writes an enrollment; with `namesSHA1` the URI names the default algorithm too.
    init(_ enrollment: Enrollment, namesSHA1: Bool = false) {
        if let push = enrollment.push, push.platform == PrivacyIDEAURI.platform {
            text = PrivacyIDEAURI.text(of: enrollment, push)
            return
        }
        let scheme =
            switch (enrollment.oath, enrollment.push) {
            case (.some, .some): "mfauth"
            case (nil, .some): "pushauth"
            default: "otpauth"
            }
        var parameters: [(name: String, value: String)] = []
        var type = "push"
        if let oath = enrollment.oath {
            type = Self.append(oath, namesSHA1: namesSHA1, to: &parameters)
        }
        if let push = enrollment.push {
            Self.append(push, to: &parameters)
        }
        let issuer = enrollment.account.issuer
        parameters.append(("issuer", enrollment.push == nil ? issuer.percentEncoded() : issuer.base64URL()))
        Self.append(decorationOf: enrollment, plainImage: enrollment.oath != nil, to: &parameters)

        let label = [issuer, enrollment.account.accountName].map { $0.percentEncoded() }.joined(separator: ":")
        let query = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        text = "\(scheme)://\(type)/\(label)?\(query)"
    }

    /// Appends the parameters for one-time codes and returns the type for the authority.
    private static func append(
        _ oath: OATHSettings, namesSHA1: Bool, to parameters: inout [(name: String, value: String)]
    ) -> String {
        parameters.append(("secret", oath.secret.withUnsafeBytes { Base32.encode($0) }))
        if namesSHA1 || oath.algorithm != .sha1 { parameters.append(("algorithm", oath.algorithm.rawValue)) }
        parameters.append(("digits", String(oath.digits.count)))
        if oath.encoding == .steam { parameters.append(("encoder", "steam")) }
        switch oath.factor {
        case .time(let period):
            parameters.append(("period", String(period.seconds)))
            // A program that does not know Steam's codes refuses this type, and makes no wrong codes.
            return oath.encoding == .steam ? "steam" : "totp"
        case .counter(let next):
            parameters.append(("counter", String(next)))
            return "hotp"
        }
    }

    private static func append(_ push: PushInvitation, to parameters: inout [(name: String, value: String)]) {
        parameters.append(("s", push.secret.withUnsafeBytes { Base64.encode($0, as: .url) }))
        parameters.append(("c", Base64.encode(push.challenge, as: .url)))
        parameters.append(("m", push.messageID.percentEncoded()))
        parameters.append(("r", push.registrationEndpoint.url.base64URL()))
        parameters.append(("a", push.authenticationEndpoint.url.base64URL()))
        if let cookie = push.loadBalancerCookie { parameters.append(("l", cookie.base64URL())) }
        if let id = push.resourceID { parameters.append(("pid", id.base64URL())) }
    }

    private static func append(
        decorationOf enrollment: Enrollment, plainImage: Bool, to parameters: inout [(name: String, value: String)]
    ) {
        if let id = enrollment.userID { parameters.append(("uid", id.base64URL())) }
        if let id = enrollment.oathResourceID { parameters.append(("oid", id.base64URL())) }
        if let image = enrollment.imageURL {
            // A plain address that is valid base64 would be decoded by the reader.
            let isPlain = plainImage && (try? Base64.decode(image)) == nil
            parameters.append(("image", isPlain ? image.percentEncoded() : image.base64URL()))
        }
        if let color = enrollment.backgroundColor { parameters.append(("b", String(color.drop { $0 == "#" }))) }
        if !enrollment.policies.isEmpty {
            parameters.append(("policies", Base64.encode(JSON.encode(.object(enrollment.policies)), as: .url)))
        }
    }
}

extension String {
    fileprivate func base64URL() -> String { Base64.encode(Array(utf8), as: .url) }
}
