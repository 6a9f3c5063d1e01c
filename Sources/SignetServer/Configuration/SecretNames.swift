/// The rule that tells by its name whether a setting of AM's nodes, scripts and clients is a secret.
extension String {
    /// True for the name of a setting whose value is a secret, by the ends of AM's names.
    ///
    /// Documents have such a setting without its value. A name that only contains such a word is not enough: `passwordExpiryTime`
    /// and `sessionDataKey` are settings that a document needs.
    var isSecretName: Bool {
        let name = lowercased()
        return name.hasSuffix("-encrypted")
            || ["password", "passwd", "secret", "passphrase", "apikey", "privatekey"].contains(where: name.hasSuffix)
    }

    /// True for the name of a setting whose value could be a secret, so that messages do not repeat the value.
    var canBeSecretName: Bool {
        let name = lowercased()
        return isSecretName || ["password", "secret", "key", "token"].contains(where: name.contains)
    }
}
