import java.io.*;
import java.security.*;
import java.security.cert.*;
import java.util.*;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.PDSignature;
import org.apache.pdfbox.pdmodel.interactive.form.PDSignatureField;
import org.bouncycastle.cert.jcajce.JcaCertStore;
import org.bouncycastle.cms.*;
import org.bouncycastle.cms.jcajce.JcaSignerInfoGeneratorBuilder;
import org.bouncycastle.operator.jcajce.*;

/** Signs a PDF without a picture: PdfBoxSign SIGNER.p12 IN OUT [FIELD]. */
public class PdfBoxSign {
  public static void main(String[] arguments) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(new FileInputStream(arguments[0]), new char[0]);
    String alias = store.aliases().nextElement();
    PrivateKey key = (PrivateKey) store.getKey(alias, new char[0]);
    java.security.cert.Certificate[] chain = store.getCertificateChain(alias);
    try (PDDocument document = Loader.loadPDF(new File(arguments[1]));
        OutputStream out = new FileOutputStream(arguments[2])) {
      PDSignature signature = new PDSignature();
      signature.setFilter(PDSignature.FILTER_ADOBE_PPKLITE);
      signature.setSubFilter(PDSignature.SUBFILTER_ADBE_PKCS7_DETACHED);
      signature.setName("Ines Marwick");
      signature.setSignDate(Calendar.getInstance());
      if (arguments.length > 3)
        ((PDSignatureField) document.getDocumentCatalog().getAcroForm(null).getField(arguments[3])).setValue(signature);
      document.addSignature(signature, content -> sign(content.readAllBytes(), key, chain));
      document.saveIncremental(out);
    }
  }

  private static byte[] sign(byte[] content, PrivateKey key, java.security.cert.Certificate[] chain) throws IOException {
    try {
      CMSSignedDataGenerator generator = new CMSSignedDataGenerator();
      generator.addSignerInfoGenerator(
          new JcaSignerInfoGeneratorBuilder(new JcaDigestCalculatorProviderBuilder().build())
              .build(new JcaContentSignerBuilder("SHA256WithRSA").build(key), (X509Certificate) chain[0]));
      generator.addCertificates(new JcaCertStore(Arrays.asList(chain)));
      return generator.generate(new CMSProcessableByteArray(content), false).getEncoded();
    } catch (Exception error) {
      throw new IOException(error);
    }
  }
}
