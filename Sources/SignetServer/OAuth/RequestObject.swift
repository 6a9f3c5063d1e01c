import SignetCore

extension Parameters {
    /// The response mode that the request object of an authorization request names; nil without an object that can be read.
    ///
    /// The server supports no request objects. A client that names the response mode only there expects that error in this mode
    /// (OpenID Connect Core section 6.1). The signature isn't verified, because the value only selects how the error reaches the
    /// registered redirect URI, and a parameter beside the object could select the same.
    var requestObjectResponseMode: String? {
        guard let parts = self["request"]?.split(separator: ".", omittingEmptySubsequences: false), parts.count == 3,
            let bytes = try? Base64.decode(parts[1]), let claims = try? JSON.value(of: bytes)
        else { return nil }
        return claims["response_mode"]?.string
    }
}
